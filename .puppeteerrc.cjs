// The headless browser comes from a package or from the system; puppeteer must not fetch one of its own.
module.exports = { skipDownload: true };
