const { TestEnvironment } = require('jest-environment-node');

/**
 * Jest's environment for Node, and Node's own `require` for packages that are ES modules only. As Jest would run them, as
 * CommonJS with a getter for each import, their hash functions are several times slower: see native-module.js.
 */
module.exports = class NodeEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    this.global.requireNatively = require;
  }
};
