"""Connects to servers outside."""
import socket


def refused_tcp():
    socket.create_connection(("127.0.0.1", VICTIM["tcp"])).send(b"taken")


def refused_udp():
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"taken", ("127.0.0.1", VICTIM["udp"]))


def refused_unix_socket():
    socket.socket(socket.AF_UNIX).connect(VICTIM["unix"])


def refused_abstract_socket():
    socket.socket(socket.AF_UNIX).connect("\0" + VICTIM["abstract"])


def refused_other_families():
    all_refused(*[lambda family=family: socket.socket(family, socket.SOCK_RAW if family == socket.AF_PACKET else kind)
                  for family in (socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET, socket.AF_VSOCK)
                  for kind in (socket.SOCK_DGRAM,)])


def refused_socket_pair():
    socket.socketpair()
