package io.lendstream.simulator.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ReleasesTest {
    @Test
    void theEndOfAJobIsAReleaseAndNotAReclaim() {
        FactsCollector collector = new FactsCollector("run", true);
        collector.take(Sightings.decision(1, 20, Sightings.lend("job", "g1"), "plan", "job grows"));
        collector.take(Sightings.decision(2, 40, Sightings.reclaim("job", "g1"), "demand", "chat is short"));
        collector.take(Sightings.decision(3, 60, Sightings.reclaim("job", "g2"), "over", "job is finished"));

        ReportedRun run = collector.facts();

        assertThat(run.decisions().count("reclaim")).isEqualTo(1);
        assertThat(run.decisions().count("release")).isEqualTo(1);
        assertThat(HtmlReport.render(new RunFacts("t", List.of(), List.of(run))))
                .contains("Releases (jobs that ended)", "<span class=\"badge release\">release</span>");
    }
}
