// Runs `rebuild` in a separate process, with another transform than Jest's: arguments are the order and the working folder.
const { _extensions: extensions } = require('node:module');
const { transformFileSync } = require('@swc/core');

extensions['.ts'] = (module, file) => {
  const { code } = transformFileSync(file, {
    jsc: { target: 'es2022', parser: { syntax: 'typescript' }, minify: { mangle: true, compress: true } },
    minify: true,
    module: { type: 'commonjs' },
    swcrc: false,
  });
  module._compile(code, file);
};

process.stdout.write(JSON.stringify(require('./rebuild.ts').rebuild(Number(process.argv[2]))));
