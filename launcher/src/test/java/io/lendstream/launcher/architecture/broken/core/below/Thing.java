package io.lendstream.launcher.architecture.broken.core.below;

/** Something that others may know. */
public record Thing(int value) {}
