const { TestEnvironment } = require('jest-environment-node');

/**
 * Jest's environment for Node, and Node's own `require` for packages that are ES modules only. As Jest would run them, as
 * CommonJS with a getter for each import, their hash functions are several times slower: see native-module.js.
 */
module.exports = class NodeEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    this.global.requireNatively = require;
    // `expect` captures a stack for each call; Jest's environment sets 100 frames.
    this.global.Error.stackTraceLimit = 20;
  }
};
