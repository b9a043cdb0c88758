package io.lendstream.launcher.architecture.broken.core.first;

import io.lendstream.launcher.architecture.broken.core.second.KnowsTheFirst;

/** Closes a cycle of two packages. */
public record KnowsTheSecond(KnowsTheFirst second) {}
