const model = (name) => `gateway/inbox/page/model/${name}.ts`;
const STATE = ['test/gateway/inbox/page/page-state.test.ts'];
const REVIEWS = ['test/gateway/inbox/page/shown-review.test.ts'];
const EVIDENCE = ['test/gateway/inbox/page/evidence.test.ts'];
const LINES = ['test/gateway/inbox/page/change-lines.test.ts'];

export const DEFECTS = [
  {
    name: 'let the page sign a confirmation whose evidence was not on screen',
    through: 'a confirmation of a draft from an earlier visit, without a look',
    file: model('choices'),
    from: "decision !== 'confirm' || unseenPlaces",
    to: "decision !== 'reject' || unseenPlaces",
    tests: STATE,
  },
  {
    name: 'count a place of evidence as seen if it has no block on screen',
    through: 'a confirmation without a look at one of its places',
    file: model('coverage'),
    from: 'blocks.length > 0 && !blocks.some((block) => seen.has(block))',
    to: 'blocks.length > 0 && seen.size === 0 && !blocks.some((block) => seen.has(block))',
    tests: EVIDENCE,
  },
  {
    name: 'ask nothing before rows are deleted',
    through: 'a deletion confirmed by habit',
    file: model('friction'),
    from: 'deleted > 0).sort',
    to: 'deleted > MANY_ROWS).sort',
    tests: REVIEWS,
  },
  {
    name: 'offer an answer to the requester on the page',
    through: 'an answer that the admission refuses',
    file: model('cards'),
    from: 'fourEyes && person === requester',
    to: 'fourEyes && person !== requester',
    tests: REVIEWS,
  },
  {
    name: 'show a safety finding as advice',
    through: 'a page that does not say what ended a review',
    file: model('cards'),
    from: "(finding.class === 'SAFETY' && finding.status === 'BLOCK')",
    to: "(finding.class === 'POLICY' && finding.status === 'BLOCK')",
    tests: REVIEWS,
  },
  {
    name: 'read a removed line "-- a" as a file header in the diff of the page',
    through: 'a removed line that is not marked as removed',
    file: model('change-lines'),
    from: "if (line.startsWith('-')) {",
    to: "if (line.startsWith('-') && !line.startsWith('--')) {",
    tests: LINES,
  },
];
