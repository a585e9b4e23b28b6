import { say } from '../../dev/run-program';
import { judgeScript } from './judge-script';
import { SCRIPTED_JUDGE, startScriptedJudge, type ScriptedJudge } from './scripted-judge';

export interface Judge {
  readonly model: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly server: ScriptedJudge | null;
}

/** The real model if OPENAI_API_KEY is set; otherwise the scripted judge on loopback. */
export async function chooseJudge(): Promise<Judge> {
  const {
    OPENAI_API_KEY: apiKey,
    OPENAI_BASE_URL: baseUrl = 'https://api.openai.com/v1',
    OPENAI_MODEL: model = 'gpt-5-mini',
  } = process.env;
  if (apiKey !== undefined && apiKey !== '') {
    say(`Judge: ${model} at ${new URL(baseUrl).host}`);
    return { model, baseUrl, apiKey, server: null };
  }
  const server = await startScriptedJudge({ script: judgeScript });
  say(`Judge: ${SCRIPTED_JUDGE}, a script on loopback, because OPENAI_API_KEY is not set`);
  return { model: SCRIPTED_JUDGE, baseUrl: server.baseUrl, apiKey: 'scripted', server };
}
