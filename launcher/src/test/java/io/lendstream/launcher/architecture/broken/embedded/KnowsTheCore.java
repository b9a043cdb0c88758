package io.lendstream.launcher.architecture.broken.embedded;

import io.lendstream.launcher.architecture.broken.core.Thing;

/** Should know nobody. */
record KnowsTheCore(Thing thing) {}
