package io.lendstream.launcher.architecture.broken.simulator;

import io.lendstream.launcher.architecture.broken.core.below.Thing;

/** Looks downwards, as it should. */
public record KeepsEveryRule(Thing below) {}
