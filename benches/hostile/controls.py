"""Load on the machine that does not reach the server: the ratios beside it are those of the processors and the network alone."""

import socket

from hostile.attack import attack


@attack("control: busy processors", proof=("loops",))
def busy(me):
    while not me.is_over():
        sum(range(100_000))
        me.count("loops")


@attack("control: busy loopback", proof=("MiB",))
def busy_loopback(me):
    """A connection of the attacker with itself."""
    listener = socket.create_server(("127.0.0.1", 0))
    connection = socket.create_connection(listener.getsockname())
    peer, _ = listener.accept()
    data, room = bytes(1 << 18), bytearray(1 << 18)

    def send(_index):
        while not me.is_over():
            connection.sendall(data)

    def receive(_index):
        seen = 0
        while not me.is_over():
            seen += peer.recv_into(room)
            if seen >= 1 << 20:
                me.count("MiB", seen >> 20)
                seen &= (1 << 20) - 1

    me.threads(2, lambda index: (send, receive)[index](index))
