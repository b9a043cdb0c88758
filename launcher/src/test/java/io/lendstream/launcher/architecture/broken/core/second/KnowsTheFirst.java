package io.lendstream.launcher.architecture.broken.core.second;

import io.lendstream.launcher.architecture.broken.core.first.KnowsTheSecond;

/** Closes a cycle of two packages. */
public record KnowsTheFirst(KnowsTheSecond first) {}
