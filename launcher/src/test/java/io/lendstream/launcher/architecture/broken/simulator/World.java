package io.lendstream.launcher.architecture.broken.simulator;

import io.lendstream.launcher.architecture.broken.core.below.Thing;

/** Something that core should not know. */
public record World(Thing below) {}
