package io.lendstream.launcher.architecture.broken.embedded;

import io.lendstream.launcher.architecture.broken.core.below.Thing;

/** Must not depend on other modules. */
record KnowsTheCore(Thing thing) {}
