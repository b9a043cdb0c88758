package io.lendstream.launcher.architecture.broken.core;

/** Something that others may know. */
public record Thing(int value) {}
