// Lets node require TypeScript files: `node --require ./test/pins/register.cjs file.ts`. Types are dropped, not checked.
const { readFileSync } = require('node:fs');
const { transformSync } = require('@swc/core');

require.extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), {
    filename,
    swcrc: false,
    configFile: false,
    module: { type: 'commonjs' },
    sourceMaps: 'inline',
    jsc: { target: 'es2023', parser: { syntax: 'typescript' } },
  });
  module._compile(code, filename);
};
