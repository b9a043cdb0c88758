package io.lendstream.launcher.architecture.broken.embedded;

import io.lendstream.launcher.architecture.broken.core.below.Thing;

/** Should know nobody. */
record KnowsTheCore(Thing thing) {}
