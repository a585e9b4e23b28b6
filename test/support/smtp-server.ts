import { createServer, type Socket } from 'node:net';
import { listenOnLoopback } from '../../dev/fixtures/loopback-server';

export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly data: string;
}

export interface SmtpServer {
  readonly port: number;
  readonly mails: readonly Mail[];
  /** Replaces the reply to this command, for example `RCPT` by `450 later`. Null: as usual. */
  reply: ((command: string) => string | null) | null;
  close(): Promise<void>;
}

/** A mail server on loopback that keeps what it gets (RFC 5321, without TLS and login). */
export async function startSmtpServer(): Promise<SmtpServer> {
  const mails: Mail[] = [];
  const state: { reply: SmtpServer['reply'] } = { reply: null };
  const server = createServer((socket) => serve(socket, mails, (command) => state.reply?.(command) ?? null));
  const port = await listenOnLoopback(server);
  return {
    port,
    mails,
    get reply() {
      return state.reply;
    },
    set reply(value) {
      state.reply = value;
    },
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

function serve(socket: Socket, mails: Mail[], replyTo: (command: string) => string | null): void {
  let text = '';
  let inData = false;
  let mail = { from: '', to: [] as string[] };
  const send = (line: string): void => void socket.write(`${line}\r\n`);
  socket.on('error', () => socket.destroy()); // The client may leave at any time.
  socket.on('data', (chunk) => {
    text += chunk.toString('utf8');
    for (;;) {
      const end = inData ? text.indexOf('\r\n.\r\n') : text.indexOf('\r\n');
      if (end === -1) return;
      const part = text.slice(0, end);
      text = text.slice(end + (inData ? 5 : 2));
      if (inData) {
        mails.push({ ...mail, data: part });
        inData = false;
        mail = { from: '', to: [] };
        send('250 kept');
      } else onCommand(part);
    }
  });
  const onCommand = (line: string): void => {
    const [command = ''] = line.toUpperCase().split(/[ :]/);
    const instead = replyTo(command);
    if (instead !== null) return send(instead);
    const address = /<([^>]*)>/.exec(line)?.[1] ?? '';
    if (command === 'MAIL') mail.from = address;
    if (command === 'RCPT') mail.to.push(address);
    inData = command === 'DATA';
    if (command === 'QUIT') return void socket.end('221 bye\r\n');
    if (command === 'STARTTLS') return send('502 command not implemented');
    send(inData ? '354 go on' : '250 ok');
  };
  send('220 loopback');
}
