package io.lendstream.core.actuation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.seeds.Seeds;
import io.lendstream.core.simulated.SimulatedDelays;
import io.lendstream.core.simulated.SimulatedDelays.FailureRates;
import io.lendstream.core.simulated.SimulatedDriver;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/** What holds whatever a scheduler, sane or not, decides. */
class ActuationPropertyTest {
    @Seeds(400)
    void noGpuIsBoundTwiceWithoutAReleaseBetweenAndReportsComeInTheOrderOfTheirTimes(long seed) {
        var random = new Random(seed);
        var delays = SimulatedDelays.realistic()
                .withJitter(random.nextInt(2) * 0.5, seed)
                .withFailures(random.nextBoolean() ? FailureRates.NONE : new FailureRates(0.2, 0.2, 0), seed);
        var actuation = RandomDecisions.actuation(new SimulatedDriver(delays));
        var reports = new ArrayList<ActuationReport>();
        Instant now = RandomDecisions.START;
        for (int sequence = 1; sequence <= 60; sequence++) {
            now = now.plusMillis(random.nextInt(8_000));
            if (random.nextInt(4) == 0) {
                reports.addAll(actuation.advance(now));
            }
            if (random.nextInt(10) == 0) {
                actuation = RandomDecisions.restarted(actuation, new SimulatedDriver(delays));
            }
            reports.addAll(actuation.take(RandomDecisions.decision(random, now, sequence), now));
        }
        reports.addAll(actuation.advance(now.plus(Duration.ofHours(2))));

        var owners = new HashMap<GpuId, Tenant>();
        Instant last = RandomDecisions.START;
        for (ActuationReport report : reports) {
            assertThat(report.at()).as("time of %s", report).isAfterOrEqualTo(last);
            last = report.at();
            follow(owners, report);
        }
        for (Holding holding : actuation.holdings()) {
            assertThat(holding.loan())
                    .as("loan of %s after every lease's end", holding)
                    .isEmpty();
            assertThat(holding.phase()).isEqualTo(Holding.Phase.BOUND);
            assertThat(owners).containsEntry(holding.gpu(), holding.tenant());
        }
        assertThat(owners).hasSameSizeAs(actuation.holdings());
        assertThat(actuation.nextEventAt()).isEmpty();
    }

    private static void follow(Map<GpuId, Tenant> owners, ActuationReport report) {
        for (GpuId gpu : report.gpus()) {
            if (report.outcome() == Outcome.BOUND) {
                assertThat(owners).as("owners at %s", report).doesNotContainKey(gpu);
                report.tenant().ifPresent(tenant -> {
                    owners.put(gpu, tenant);
                    assertThat(tenant instanceof Tenant.Job
                                    || RandomDecisions.INFERENCE.contains(gpu)
                                    || RandomDecisions.GPUS.contains(gpu))
                            .isTrue();
                });
            }
            if (report.outcome() == Outcome.RELEASED || report.outcome() == Outcome.FORCED) {
                Optional.ofNullable(owners.remove(gpu))
                        .ifPresent(owner -> assertThat(report.tenant()).contains(owner));
            }
        }
    }
}
