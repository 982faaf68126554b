# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Names, addresses and Kerberos configuration, the same on both guests:
#
#   client.test 10.0.0.2 ---- eth0 (a socket pair on the host) ---- server.test 10.0.0.1
#   gssd, mount, load                                       KDC, svcgssd, mountd, nfsd

names() {
	mkdir -p /run/log
	printf '%s\n' '127.0.0.1 localhost' '10.0.0.1 server.test server' \
		'10.0.0.2 client.test client' >/etc/hosts
	echo "hosts: files" >/etc/nsswitch.conf
	printf '%s\n' 'passwd: files' 'group: files' >>/etc/nsswitch.conf
	printf '[General]\nDomain = test\n' >/etc/idmapd.conf
	cat >/etc/krb5.conf <<-EOF
	[libdefaults]
	 default_realm = TEST
	 dns_lookup_kdc = false
	 dns_lookup_realm = false
	 dns_canonicalize_hostname = false
	 rdns = false
	 permitted_enctypes = $ENCTYPE
	[realms]
	 TEST = {
	  kdc = 10.0.0.1
	  admin_server = 10.0.0.1
	 }
	[domain_realm]
	 .test = TEST
	 test = TEST
	[logging]
	 kdc = FILE:/run/log/krb5kdc.log
	EOF
}

# address ADDRESS: bring the link up; also see that all processors did come up.
address() {
	[ "$(nproc)" = "$VCPUS" ] || die "the guest kernel found $(nproc) of $VCPUS processors"
	echo "$ROLE.test" >/proc/sys/kernel/hostname
	ip link set lo up
	ip addr add "$1/24" dev eth0
	ip link set eth0 up || die "the link between the guests cannot be brought up"
}

# soft_rdma: one rxe device on the link, ready for connections.
soft_rdma() {
	local port=/sys/class/infiniband/rxe0/ports/1
	modprobe -q -a rdma_rxe rpcrdma
	rdma link add rxe0 type rxe netdev eth0 || die "no soft RDMA device: rdma link add failed"
	await "the rxe port" 20 grep -q ACTIVE $port/state
	await "the rxe address" 20 grep -q 'ffff:0a00' $port/gids/1 $port/gids/0
}
