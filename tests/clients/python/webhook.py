"""An admission webhook: labels every object, and refuses those that are called `refused`.

Arguments: the certificate and the key, PEM; the port, 0 for any. Prints the port when it listens.
"""

import base64
import http.server
import json
import ssl
import sys


class Webhook(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        length = int(self.headers["content-length"])
        review = json.loads(self.rfile.read(length))
        request = review["request"]
        response = {"uid": request["uid"], "allowed": request.get("name") != "refused"}
        if response["allowed"] and request["object"] is not None:
            labels = request["object"]["metadata"].get("labels", {})
            patch = [{"op": "add", "path": "/metadata/labels", "value": {**labels, "by": "python"}}]
            response["patchType"] = "JSONPatch"
            response["patch"] = base64.b64encode(json.dumps(patch).encode()).decode()
        if not response["allowed"]:
            response["status"] = {"code": 403, "message": "that name is taken by a joke"}
        answer = json.dumps({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response})
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer.encode())

    def log_message(self, *_):
        pass


certificate, key, port = sys.argv[1:]
http.server.ThreadingHTTPServer.allow_reuse_address = True
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Webhook)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
