package io.lendstream.simulator.published;

import java.util.List;

/** What came of a run. */
public record PublishedRun(List<TrainingRun> trainings, List<RequestRun> requests) {}
