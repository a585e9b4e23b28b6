/** For native-import.ts: in a .js file, Jest would turn `import` into `require`. */
module.exports = (url) => import(url);
