package io.lendstream.launcher.operation;

import io.lendstream.core.fixtures.Scenario;
import io.lendstream.launcher.cli.GpuNames;

/** The short names of a story's GPUs. */
final class StoryNames {
    private StoryNames() {}

    static GpuNames of(Scenario story) {
        GpuNames names = new GpuNames();
        story.log().forEach(event -> event.event().asNode().ifPresent(names::take));
        return names;
    }
}
