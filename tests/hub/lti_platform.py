"""A learning platform that speaks LTI 1.3: it sends people to a tool.

What it does and what it refuses is in the specifications of 1EdTech: the *Security
Framework* 1.0 (login by OpenID Connect) and *LTI Core* 1.3 (a launch's claims).
"""

import html
import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
AUTHORIZE, KEYS = "/api/lti/authorize_redirect", "/api/lti/security/jwks"
# What a tool asks for, step 2 of the login; the nonce and the state are its own.
REQUEST = {
    "scope": "openid",
    "response_type": "id_token",
    "response_mode": "form_post",
    "prompt": "none",
}


def new_key():
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class LtiPlatform:
    """A platform in which one tool is registered.

    tool : the tool's address
    client_id, deployment : under which it is registered
    people : a person's id here to what the custom fields hold
    change : is called with the claims of each launch before they are signed
    """

    def __init__(self, issuer, tool, client_id, deployment, people):
        self.issuer, self.tool, self.client_id = issuer, tool, client_id
        self.deployment, self.people = deployment, people
        self.key = self.signs_with = new_key()
        self.change = lambda claims: None
        self.address = ""

    @contextmanager
    def serving(self):
        """Serve until the end of the block; yields the platform."""
        handler = type("Handler", (Handler,), {"platform": self})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        self.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def link(self, person, target):
        """Return where a link of the course sends the browser: step 1 of the login."""
        query = {
            "iss": self.issuer,
            "login_hint": person,
            "lti_message_hint": "resource-1",
            "lti_deployment_id": self.deployment,
            "client_id": self.client_id,
            "target_link_uri": f"{self.tool}{target}",
        }
        return f"{self.tool}/hub/lti13/oauth_login?{urlencode(query)}"

    def public_keys(self):
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [public | {"kid": "1", "use": "sig", "alg": "RS256"}]}

    def authorize(self, query):
        """Return the page that sends the launch on; a sentence if it is refused."""
        if query.get("redirect_uri") != f"{self.tool}/hub/lti13/oauth_callback":
            return f"redirect_uri {query.get('redirect_uri')} is not registered"
        wrong = [name for name, value in REQUEST.items() if query.get(name) != value]
        if query.get("client_id") != self.client_id:
            wrong.append("client_id")
        if query.get("login_hint") not in self.people:
            wrong.append("login_hint")
        wrong += [name for name in ("nonce", "state") if not query.get(name)]
        if wrong or query.get("lti_message_hint") != "resource-1":
            return f"wrong or missing: {wrong}"
        form = {"state": query["state"], "id_token": self.token(query)}
        fields = "".join(
            f'<input type="hidden" name="{name}" value="{html.escape(value)}">'
            for name, value in form.items()
        )
        address = html.escape(query["redirect_uri"])
        return f'<form method="post" action="{address}">{fields}</form>'

    def token(self, query):
        """Return the launch of a person, signed."""
        now = int(time.time())
        person = query["login_hint"]
        claims = {
            "iss": self.issuer,
            "aud": query["client_id"],
            "sub": person,
            "nonce": query["nonce"],
            "iat": now,
            "exp": now + 300,
            CLAIM + "version": "1.3.0",
            CLAIM + "message_type": "LtiResourceLinkRequest",
            CLAIM + "deployment_id": self.deployment,
            CLAIM + "target_link_uri": f"{self.tool}/hub/spawn",
            CLAIM + "resource_link": {"id": "resource-1"},
            CLAIM + "roles": [],
            CLAIM + "custom": self.people[person],
        }
        self.change(claims)
        return jwt.encode(claims, self.signs_with, "RS256", headers={"kid": "1"})


class Handler(BaseHTTPRequestHandler):
    platform: LtiPlatform

    def log_message(self, *_):
        """Print nothing."""

    def do_GET(self):
        parts = urlsplit(self.path)
        if parts.path == KEYS:
            self.answer(
                200, "application/json", json.dumps(self.platform.public_keys())
            )
        elif parts.path == AUTHORIZE:
            page = self.platform.authorize(dict(parse_qsl(parts.query)))
            self.answer(200 if page.startswith("<form") else 400, "text/html", page)
        else:
            self.answer(404, "text/plain", "")

    def answer(self, status, kind, text):
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
