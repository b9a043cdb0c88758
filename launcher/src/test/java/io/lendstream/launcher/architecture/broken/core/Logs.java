package io.lendstream.launcher.architecture.broken.core;

import org.slf4j.Logger;

/** Knows a library. */
record Logs(Logger logger) {}
