"""The logins of simple-salesforce, unmodified, against a running mock org.

Reads the server's connection document (the first line of `fieldforce org serve`) from standard input.
"""

import json
import sys
import tempfile

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from plain_loopback import Cases, session
from simple_salesforce import Salesforce
from simple_salesforce.exceptions import SalesforceAuthenticationFailed

org = json.loads(sys.stdin.readline())
case = Cases()


def works(sf):
    return sf.limits()["DailyApiRequests"]["Max"] > 0


def login(**arguments):
    return Salesforce(session=session(org["url"]), version="62.0", **arguments)


soap = login(username=org["username"], password=org["password"], security_token="TOKEN")
case("a login by SOAP works", works(soap))
password = login(
    username=org["username"],
    password=org["password"],
    consumer_key=org["clientId"],
    consumer_secret=org["clientSecret"],
)
case("a login by password works", works(password))
credentials = login(
    domain="my", consumer_key=org["clientId"], consumer_secret=org["clientSecret"]
)
case("a login by client credentials works", works(credentials))

key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
with tempfile.NamedTemporaryFile() as file:
    file.write(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    file.flush()
    jwt = login(
        username=org["username"], consumer_key=org["clientId"], privatekey_file=file.name
    )
case("a login by JWT works", works(jwt))

try:
    login(username=org["username"], password="wrong", security_token="")
    case("a wrong password is refused", False)
except SalesforceAuthenticationFailed as error:
    case("a wrong password is INVALID_LOGIN", error.code == "INVALID_LOGIN")

print(f"simple-salesforce logins: {case.passed} cases hold")
