import { runPart } from '../support/run-part';

runPart(__filename);
