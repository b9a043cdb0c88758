package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.state.GpuState;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The overview of a deployment after the records of a story. */
final class StoryOverview {
    private StoryOverview() {}

    /** In the order of the log or in the opposite one. */
    static Overview of(Scenario story, boolean backwards) {
        List<Object> records = new ArrayList<>();
        story.log().forEach(event -> records.add(event.event().asCommand().isPresent() ? event : event.event()));
        records.addAll(story.decisions());
        for (GpuState gpu : story.state().gpus().values()) {
            records.add(gpu.lease(Scenario.DOMAIN, story.state().epoch()));
        }
        if (backwards) {
            Collections.reverse(records);
        }
        Overview overview = new Overview();
        records.forEach(record -> tell(overview, record));
        return overview;
    }

    static void tell(Overview overview, Object record) {
        if (record instanceof DomainEvent command) {
            overview.accepted(command, TopicCatalogue.standard());
        } else if (record instanceof Decision decision) {
            overview.decided(decision, decision.at());
        } else {
            overview.tell(record);
        }
    }
}
