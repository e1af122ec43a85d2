"""The model behind the real agents: a small HTTP server on 127.0.0.1 that answers every message the same way.

Speaks as much as claude (`POST /v1/messages`, `/v1/messages/count_tokens`) and codex (`POST /v1/responses`,
`GET /v1/models`) ask for, streamed or whole. To `remember WORD-12` it answers `noted WORD-12`; to anything else `ready`.
"""
import json
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MARK = re.compile(r'remember ([a-z]+-\d+)')


def said(body):
    """The texts of the user's own words in a request, oldest first."""
    for item in body.get('messages') or body.get('input') or []:
        if not isinstance(item, dict) or item.get('role') != 'user':
            continue
        content = item.get('content')
        if isinstance(content, str):
            yield content
        for part in content if isinstance(content, list) else []:
            if isinstance(part, dict) and isinstance(part.get('text'), str):
                yield part['text']


def answer(body):
    marks = [m for text in said(body) for m in MARK.findall(text)]
    return f'noted {marks[-1]}' if marks else 'ready'


def anthropic_events(model, text):
    message = {'id': 'msg_1', 'type': 'message', 'role': 'assistant', 'model': model, 'content': [], 'stop_reason': None,
               'stop_sequence': None, 'usage': {'input_tokens': 9, 'output_tokens': 1}}
    yield {'type': 'message_start', 'message': message}
    yield {'type': 'content_block_start', 'index': 0, 'content_block': {'type': 'text', 'text': ''}}
    yield {'type': 'content_block_delta', 'index': 0, 'delta': {'type': 'text_delta', 'text': text}}
    yield {'type': 'content_block_stop', 'index': 0}
    yield {'type': 'message_delta', 'delta': {'stop_reason': 'end_turn', 'stop_sequence': None}, 'usage': {'output_tokens': 4}}
    yield {'type': 'message_stop'}


def openai_events(model, text):
    item = {'type': 'message', 'role': 'assistant', 'id': 'msg_1', 'status': 'completed',
            'content': [{'type': 'output_text', 'text': text, 'annotations': []}]}
    response = {'id': 'resp_1', 'object': 'response', 'model': model, 'status': 'in_progress', 'output': []}
    usage = {'input_tokens': 9, 'input_tokens_details': {'cached_tokens': 0}, 'output_tokens': 4,
             'output_tokens_details': {'reasoning_tokens': 0}, 'total_tokens': 13}
    yield {'type': 'response.created', 'response': response}
    yield {'type': 'response.output_item.added', 'output_index': 0, 'item': item | {'status': 'in_progress', 'content': []}}
    yield {'type': 'response.output_text.delta', 'item_id': 'msg_1', 'output_index': 0, 'content_index': 0, 'delta': text}
    yield {'type': 'response.output_item.done', 'output_index': 0, 'item': item}
    yield {'type': 'response.completed', 'response': response | {'status': 'completed', 'output': [item], 'usage': usage}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def reply(self, status, kind, data):
        self.send_response(status)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(data)

    def as_json(self, value, status=200):
        self.reply(status, 'application/json', json.dumps(value).encode())

    def stream(self, events):
        text = ''.join(f'event: {e["type"]}\ndata: {json.dumps(e | extra(n, e))}\n\n' for n, e in enumerate(events))
        self.reply(200, 'text/event-stream', text.encode())

    def do_GET(self):
        path = self.path.partition('?')[0]
        if path.endswith('/models'):
            self.as_json({'object': 'list', 'data': [], 'models': []})
        else:
            self.as_json({'error': {'type': 'not_found_error', 'message': 'nothing here'}}, 404)

    do_HEAD = do_GET

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        try:
            body = json.loads(raw)
        except ValueError:
            body = {}
        path = self.path.partition('?')[0]
        with self.server.guard:
            self.server.asked.append((path, list(said(body)) if isinstance(body, dict) else []))
        if not isinstance(body, dict):
            self.as_json({'error': {'type': 'invalid_request_error', 'message': 'no object'}}, 400)
        elif path.endswith('/count_tokens'):
            self.as_json({'input_tokens': 9})
        elif path.endswith('/messages'):
            model, text = body.get('model', 'mock'), answer(body)
            if body.get('stream'):
                self.stream(anthropic_events(model, text))
            else:
                self.as_json({'id': 'msg_1', 'type': 'message', 'role': 'assistant', 'model': model,
                              'content': [{'type': 'text', 'text': text}], 'stop_reason': 'end_turn',
                              'stop_sequence': None, 'usage': {'input_tokens': 9, 'output_tokens': 4}})
        elif path.endswith('/responses'):
            self.stream(openai_events(body.get('model', 'mock'), answer(body)))
        else:
            self.as_json({'error': {'type': 'not_found_error', 'message': 'nothing here'}}, 404)


def extra(number, event):
    """What an event of the OpenAI kind has beside its own fields."""
    return {'sequence_number': number} if event['type'].startswith('response.') else {}


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        # An agent that ends while it asks is no fault of ours.
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Mock:
    """A running server; `with Mock() as m`. `m.url`, and `m.asked`: (path, the user's texts) of each request so far."""

    def __enter__(self):
        self.server = Server(('127.0.0.1', 0), Handler)
        self.server.asked, self.server.guard = [], threading.Lock()
        self.url = f'http://127.0.0.1:{self.server.server_address[1]}'
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    @property
    def asked(self):
        with self.server.guard:
            return list(self.server.asked)


if __name__ == '__main__':
    with Mock() as mock:
        print(mock.url, flush=True)
        sys.stdin.read()
