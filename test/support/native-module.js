/** Transforms a module into one that Node loads, outside of Jest: see node-environment.js. */
module.exports = {
  process: (_source, file) => ({ code: `module.exports = requireNatively(${JSON.stringify(file)});` }),
};
