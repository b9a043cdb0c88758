package io.lendstream.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.simulator.workload.Demand;
import io.lendstream.simulator.workload.Workload;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Ten minutes of demand, which repeats after that. */
class OwnRequestsTest {
    private static final Instant START = Workload.EPOCH;
    private static final Instant END = START.plusSeconds(600);

    private final RateRun run = new RateRun(
            new InferenceService(
                    new ServiceId("chat"),
                    new DomainId("d"),
                    START,
                    List.of(),
                    Duration.ofSeconds(10),
                    10,
                    Optional.empty(),
                    0,
                    Duration.ofSeconds(8)),
            new Demand.Rates(START, Duration.ofMinutes(1), Collections.nCopies(10, 5.0), 0, 0.05),
            WorldSettings.of(1),
            new GpuPlaces(),
            new GpuMeter(1000),
            START,
            END);

    @Test
    void requestsAfterTheEndOfTheWorkloadAreNotItsOwn() {
        run.goOn(START.plusSeconds(300), any -> {});
        run.bound(List.of(new GpuId("g0")), START.plusSeconds(300));
        run.goOn(END, any -> {});
        ServiceResult atEnd = run.result();

        run.goOn(END.plusSeconds(1200), any -> {});
        ServiceResult later = run.result();

        assertThat(atEnd.own().requests()).isCloseTo(atEnd.requests() + atEnd.unanswered(), within(1.0));
        assertThat(atEnd.own().misses()).as("of five minutes without a replica").isGreaterThan(1000);
        assertThat(later.own()).isEqualTo(atEnd.own());
        assertThat(later.requests()).isGreaterThan(2 * atEnd.requests());
    }
}
