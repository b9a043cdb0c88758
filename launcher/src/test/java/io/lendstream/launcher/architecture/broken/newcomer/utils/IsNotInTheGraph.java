package io.lendstream.launcher.architecture.broken.newcomer.utils;

import io.lendstream.launcher.architecture.broken.core.below.Thing;

/** Belongs to no module, in a package that says nothing. */
record IsNotInTheGraph(Thing thing) {}
