package io.lendstream.launcher.architecture.broken.core;

import io.lendstream.launcher.architecture.broken.simulator.World;

/** Looks upwards. */
record KnowsTheSimulator(World above) {}
