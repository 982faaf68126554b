// SPDX-License-Identifier: GPL-2.0
/*
 * Options, time, connections.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"

/**
 * bail_out - end with a line that says why
 * @format: as of printf(), without a line feed
 */
void bail_out(const char *format, ...)
{
	va_list args;

	printf("Bail out! ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	exit(1);
}

static void take(const struct option_row *row, const char *value)
{
	char *end;

	if (row->text) {
		*row->text = value;
		return;
	}
	errno = 0;
	*row->number = strtoul(value, &end, 10);
	if (errno || end == value || *end || *value == '-')
		bail_out("--%s %s: wanted a number", row->name, value);
}

/**
 * read_options - read pairs of --name and value
 * @argc: of main()
 * @argv: of main()
 * @rows: where each goes; ends with a row without a name
 */
void read_options(int argc, char **argv, const struct option_row *rows)
{
	const struct option_row *row;
	int i;

	for (i = 1; i < argc; i += 2) {
		for (row = rows; row->name; row++)
			if (!strncmp(argv[i], "--", 2) && !strcmp(argv[i] + 2, row->name))
				break;
		if (!row->name)
			bail_out("%s: no such option", argv[i]);
		if (i + 1 == argc)
			bail_out("%s: no value", argv[i]);
		take(row, argv[i + 1]);
	}
}

/**
 * peer_address - the address to talk to
 * @text: an IPv4 address
 * @port: of TCP
 *
 * Return: the address.
 */
struct sockaddr_in peer_address(const char *text, unsigned long port)
{
	struct sockaddr_in peer = { .sin_family = AF_INET, .sin_port = htons(port) };

	if (port - 1 > 65534 || !text || inet_pton(AF_INET, text, &peer.sin_addr) != 1)
		bail_out("--server %s --port %lu: not an IPv4 address and a port",
			 text ? text : "", port);
	return peer;
}

/**
 * peer_connect - begin to connect
 * @peer: whom to
 *
 * Return: a socket that does not block and becomes writable once it is connected, or -1.
 */
int peer_connect(const struct sockaddr_in *peer)
{
	int fd;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		bail_out("socket: %s", strerror(errno));
	if (connect(fd, (const struct sockaddr *)peer, sizeof(*peer)) && errno != EINPROGRESS) {
		close(fd);
		return -1;
	}
	return fd;
}

/**
 * now_ms - a clock that only goes forward
 *
 * Return: milliseconds.
 */
uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}
