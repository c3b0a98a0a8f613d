"""A mail server for tests (aiosmtpd): prints its port, and then one line of JSON for each email that it took.

With --slow, it prints a line for each command of an email, and answers it once it has read a line.
"""

import argparse
import asyncio
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult


class Handler:
    def __init__(self, flags):
        self.refusals = dict(refusal.split(":", 1) for refusal in flags.refuse)
        self.is_slow = flags.slow

    async def wait(self, command):
        if self.is_slow:
            print(json.dumps({"waits": command}), flush=True)
            await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)

    async def handle_MAIL(self, server, session, envelope, address, options):
        await self.wait("MAIL")
        if "MAIL" in self.refusals:
            return self.refusals["MAIL"]
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_RCPT(self, server, session, envelope, address, options):
        await self.wait("RCPT")
        if "RCPT" in self.refusals:
            return self.refusals["RCPT"]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        await self.wait("DATA")
        if "DATA" in self.refusals:
            return self.refusals["DATA"]
        email = {
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "greeting": session.host_name,
            "content": envelope.content.decode("utf-8"),
            "is_encrypted": session.ssl is not None or server.transport.get_extra_info("sslcontext") is not None,
            "login": (session.auth_data.login.decode() if session.authenticated else None),
        }
        print(json.dumps(email), flush=True)
        return "250 2.0.0 taken as number 1"


def authenticator(password):
    def check(server, session, envelope, mechanism, data):
        return AuthResult(success=data.login == b"chat" and data.password == password.encode(), handled=False, auth_data=data)

    return check


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tls", choices=["none", "starttls", "implicit"], default="none")
    parser.add_argument("--cert")
    parser.add_argument("--key")
    parser.add_argument("--password")
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--refuse", action="append", default=[], metavar="COMMAND:ANSWER")
    flags = parser.parse_args()
    context = None
    if flags.tls != "none":
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(flags.cert, flags.key)
    options = {}
    if flags.password is not None:
        options = {"authenticator": authenticator(flags.password), "auth_required": True, "auth_require_tls": False}
    if flags.tls == "starttls":
        options["tls_context"] = context

    def factory():
        return SMTP(Handler(flags), hostname="mail.example.com", **options)

    implicit = context if flags.tls == "implicit" else None
    server = await asyncio.get_running_loop().create_server(factory, "127.0.0.1", flags.port, ssl=implicit)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
