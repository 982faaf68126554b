/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The client's throttle of RPCSEC_GSS sequence numbers, its transports and
 * the server's window, without clocks: what takes time in the kernel (a
 * guard, a stall, a timeout) may happen here at any time, or never.
 *
 * What must hold:
 *   - no number is refused by the server while it is in the ledger,
 *   - nobody waits while there is room,
 *   - every request ends, as long as its transport comes back some time.
 *
 * A transport that is cut may stay away until the others are done. So who
 * waits for something on it waits for good, which spin finds as a state
 * without a way out.
 *
 * Switches: WIN, the window; REQS, the requests, up to four, of which each
 * is sent again when its connection is cut; CUTS, how often one is; RESENDS,
 * how often one is sent again where it was; NUMBERS, one more than they can
 * use up; KILL, the first may be killed; CONCEDE, the
 * oldest number may be conceded. Mutations, of which each must be found:
 * NO_R2, NO_HANDOFF, OWN_BASE, WIDE.
 */

#ifndef WIN
#define WIN 2
#endif
#ifndef REQS
#define REQS 3
#endif
#ifndef CUTS
#define CUTS 1
#endif
#ifndef RESENDS
#define RESENDS 1
#endif
#ifndef NUMBERS
#define NUMBERS 8
#endif
#define LINKS 2

/* As gss_seq_init() has it, for what was never sent */
#ifdef WIDE
#define LIMIT (WIN + 1)
#else
#define LIMIT ((WIN > 1) -> (WIN - 1) : 1)
#endif

#define NONE 0
#define ISSUED 1
#define SENT 2

#define IDLE 0
#define WAITING 1
#define RUNNING 2
#define DONE 3

byte next = 1;
byte state[NUMBERS];		/* of a number: NONE when not in the ledger */
byte holder[NUMBERS];		/* whose it is */
byte conn[NUMBERS];		/* the connection it was sent on */

byte task[REQS];
byte number[REQS];		/* 0: none */
byte queue[REQS];		/* who waits, first come first */
byte nwait;
bool answered[REQS];

bool up[LINKS];
byte cookie[LINKS];
byte cuts;
byte resends = RESENDS;

/* A transmission is on the wire until it is judged, in whatever order */
bool flying[NUMBERS];
bool judged[NUMBERS];
byte highest;

#define LINK(r) ((r) % LINKS)
#define ALIVE(n) (up[LINK(holder[n])] && (state[n] != SENT || \
		  conn[n] == cookie[LINK(holder[n])]))

/* The oldest number in the ledger, or the next one; see CHECK() */
byte first = 1;

inline oldest() {
	first = 1;
	do
	:: first < next && state[first] == NONE -> first++
	:: else -> break
	od
}

#define ROOM (first == next || next - first < LIMIT)

inline issue(r) {
	assert(next < NUMBERS);
	number[r] = next;
	state[next] = ISSUED;
	holder[next] = r;
	next++;
	task[r] = RUNNING
}

byte k;

inline dequeue() {
	k = 0;
	do
	:: k + 1 < nwait -> queue[k] = queue[k + 1]; k++
	:: else -> break
	od;
	nwait--
}

byte w;

inline hand_off() {
	oldest();
	do
	:: nwait > 0 && ROOM ->
		w = queue[0];
		dequeue();
		issue(w);
		oldest()
	:: else -> break
	od
}

/* What need not be waited for */
#ifdef NO_R2
#define IN_VAIN(n) (state[n] == SENT && !ALIVE(n))
#else
#define IN_VAIN(n) (!ALIVE(n))
#endif

/* What gss_seq_reap() does when somebody waits */
inline reap() {
	oldest();
	do
	:: nwait > 0 && !ROOM && IN_VAIN(first) ->
		state[first] = NONE; oldest()
	:: else -> break
	od;
	hand_off()
}

#ifdef NO_HANDOFF
#define made_room() oldest()
#else
#define made_room() hand_off()
#endif

/* Nobody waits while there is room; looked at when the lock is free */
#define CHECK() oldest(); assert(nwait == 0 || !ROOM)

proctype request(byte r)
{
	byte n;
	bool killed;

again:
	atomic {
#ifndef OWN_BASE
		n = number[r];
		if
		:: n != 0 && state[n] != NONE -> state[n] = NONE; made_room()
		:: else
		fi;
#endif
		number[r] = 0;
		queue[nwait] = r; nwait++;
		task[r] = WAITING;
		reap();
		CHECK()
	}
	do
	:: atomic { task[r] == RUNNING -> break }
	/* its timer, when there is something to find */
	:: atomic { task[r] == WAITING && !ROOM && IN_VAIN(first) ->
		reap();
		CHECK()
	   }
#ifdef KILL
	:: atomic { r == 0 && task[r] == WAITING ->
		/* it leaves the queue wherever it is */
		w = 0;
		do
		:: queue[w] != r -> w++
		:: else -> break
		od;
		do
		:: w + 1 < nwait -> queue[w] = queue[w + 1]; w++
		:: else -> break
		od;
		nwait--;
		made_room();
		CHECK();
		goto end
	   }
#endif
	od;
#ifdef KILL
	/* it was given a number, and does not come to use it */
	if
	:: atomic { r == 0 ->
		state[number[r]] = NONE;
		made_room();
		CHECK();
		goto end
	   }
	:: true
	fi;
#endif
	atomic {
		up[LINK(r)] ->
		n = number[r];
		if
		:: state[n] == NONE -> goto again	/* revoked */
		:: else ->
			state[n] = SENT;
			conn[n] = cookie[LINK(r)];
			flying[n] = true
		fi
	}
	if
	:: atomic { answered[r] ->
		n = number[r];
		if
		:: state[n] != NONE -> state[n] = NONE; made_room()
		:: else
		fi;
		CHECK()
	   }
	:: atomic { !answered[r] && conn[n] != cookie[LINK(r)] -> goto again }
	/* a timeout, though the connection is there */
	:: atomic { !answered[r] && resends > 0 -> resends--; goto again }
	fi;
end:
	atomic { task[r] = DONE }
}

#define OTHERS_DONE(l) \
	((0 >= REQS || LINK(0) == l || task[0] == DONE) && \
	 (1 >= REQS || LINK(1) == l || task[1] == DONE) && \
	 (2 >= REQS || LINK(2) == l || task[2] == DONE) && \
	 (3 >= REQS || LINK(3) == l || task[3] == DONE))
#define ALL_DONE \
	((0 >= REQS || task[0] == DONE) && (1 >= REQS || task[1] == DONE) && \
	 (2 >= REQS || task[2] == DONE) && (3 >= REQS || task[3] == DONE))

/* Cuts a connection, and brings it back when nobody else is left */
proctype transport(byte l)
{
	do
	:: atomic { up[l] && cuts > 0 && !ALL_DONE ->
		cuts--;
		up[l] = false;
		cookie[l]++
	   }
	:: atomic { !up[l] && OTHERS_DONE(l) -> up[l] = true }
	:: atomic { up[l] && (cuts == 0 || ALL_DONE) -> break }
	od
}

/* Judges number n when it has come, and answers it, each at any time */
proctype judge(byte n)
{
	do
	:: atomic { flying[n] ->
		flying[n] = false;
		if
		:: n + WIN <= highest ->
			/* on a connection that is gone it hurts nobody */
			if
			:: conn[n] == cookie[LINK(holder[n])] ->
				assert(state[n] == NONE);
				cookie[LINK(holder[n])]++
			:: else
			fi
		:: else ->
			judged[n] = true;
			if
			:: n > highest -> highest = n
			:: else
			fi
		fi
	   }
	:: atomic { judged[n] ->
		judged[n] = false;
		if
		:: conn[n] == cookie[LINK(holder[n])] &&
		   up[LINK(holder[n])] -> answered[holder[n]] = true
		:: else
		fi
	   }
#ifdef CONCEDE
	/* overtaken, superseded, stalled */
	:: atomic { state[n] == SENT && first == n && nwait > 0 ->
		state[n] = NONE;
		made_room();
		CHECK()
	   }
#endif
	:: atomic { ALL_DONE && !flying[n] && !judged[n] -> break }
	od
}

init {
	byte i;

	atomic {
		cuts = CUTS;
		up[0] = true;
		up[1] = true;
		i = 0;
		do
		:: i < REQS -> run request(i); i++
		:: else -> break
		od;
		run transport(0);
		run transport(1);
		i = 1;
		do
		:: i < NUMBERS -> run judge(i); i++
		:: else -> break
		od
	}
}
