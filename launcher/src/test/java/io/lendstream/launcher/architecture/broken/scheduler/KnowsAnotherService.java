package io.lendstream.launcher.architecture.broken.scheduler;

import io.lendstream.launcher.architecture.broken.forecaster.UsesStreams;

/** Goes past the topics. */
record KnowsAnotherService(UsesStreams other) {}
