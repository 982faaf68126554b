// SPDX-License-Identifier: GPL-2.0
/*
 * Read TCP segments from a packet socket. A segment that the device cuts up later (TSO) goes
 * by in one piece; nothing here puts together what comes in several.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "peer.h"
#include "sniff.h"

#define PACKET		(128 << 10)
#define BUFFER		(32 << 20)	/* of the kernel, for what we are slow to read */
#define IP_HEADER	20
#define TCP_HEADER	20
#define FRAGMENTED	0x3fff		/* more to come, or an offset */

/**
 * sniff_open - see the packets of a device
 * @device: its name
 *
 * Return: a socket that does not block.
 */
int sniff_open(const char *device)
{
	struct sockaddr_ll where = { .sll_family = AF_PACKET };
	int fd, room = BUFFER;

	/* Only a socket for all protocols sees what the machine itself sends. */
	where.sll_protocol = htons(ETH_P_ALL);
	where.sll_ifindex = device ? if_nametoindex(device) : 0;
	if (!where.sll_ifindex)
		bail_out("--device %s: no such device", device ? device : "");
	fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		bail_out("a packet socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	if (bind(fd, (struct sockaddr *)&where, sizeof(where)))
		bail_out("%s: %s", device, strerror(errno));
	return fd;
}

/* The segment in an IP packet, if there is one. */
static bool take_apart(const uint8_t *ip, size_t len, struct segment *segment)
{
	size_t header, total;
	const uint8_t *tcp;

	if (len < IP_HEADER || ip[0] >> 4 != 4 || ip[9] != IPPROTO_TCP ||
	    (ip[6] << 8 | ip[7]) & FRAGMENTED)
		return false;
	header = (ip[0] & 15) * 4;
	total = ip[2] << 8 | ip[3];
	/* A short frame is padded; a big segment may have no length at all. */
	if (total && total < len)
		len = total;
	if (header < IP_HEADER || len < header + TCP_HEADER)
		return false;
	memcpy(&segment->from, ip + 12, 4);
	memcpy(&segment->to, ip + 16, 4);
	tcp = ip + header;
	len -= header;
	segment->from_port = tcp[0] << 8 | tcp[1];
	segment->to_port = tcp[2] << 8 | tcp[3];
	header = (tcp[12] >> 4) * 4;
	if (header < TCP_HEADER || len <= header)
		return false;
	segment->data = tcp + header;
	segment->len = len - header;
	return true;
}

/**
 * sniff_next - read one packet
 * @fd: of sniff_open()
 * @segment: filled in; its data is good until the next call
 *
 * Return: 1 for a segment with data, 0 for a packet without, -1 if there is no packet.
 */
int sniff_next(int fd, struct segment *segment)
{
	static uint8_t packet[PACKET];
	struct sockaddr_ll where;
	socklen_t size = sizeof(where);
	ssize_t len;

	len = recvfrom(fd, packet, sizeof(packet), 0, (struct sockaddr *)&where, &size);
	if (len < 0) {
		if (errno != EAGAIN && errno != EINTR)
			bail_out("the packet socket: %s", strerror(errno));
		return -1;
	}
	return where.sll_protocol == htons(ETH_P_IP) && take_apart(packet, len, segment);
}

/**
 * sniff_lost - how many packets came too fast
 * @fd: of sniff_open()
 *
 * Return: their number since it was last asked for.
 */
unsigned long sniff_lost(int fd)
{
	struct tpacket_stats stats = { 0 };
	socklen_t size = sizeof(stats);

	getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size);
	return stats.tp_drops;
}
