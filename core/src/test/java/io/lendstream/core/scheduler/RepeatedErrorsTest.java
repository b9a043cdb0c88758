package io.lendstream.core.scheduler;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.GpuSample;
import io.lendstream.core.event.GpuSampleBuilder;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.policy.catalogue.Policies;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A GPU that has the same error again, after it was repaired and reset. */
class RepeatedErrorsTest {
    private static final GpuId GPU = new GpuId("n-g0");
    private static final Map<String, String> OLDER =
            Map.of("heed-users", "true", "quarantine-evidence", "PT10M", "remember-users", "true");

    private Scenario story = story(true);
    private String boot = "boot-1";
    private long samples;

    private static Scenario story(boolean strict) {
        Map<String, String> all = new HashMap<>(OLDER);
        all.put("strict-users", Boolean.toString(strict));
        return new Scenario(new Scheduler(Policies.parse("deepboot"), SchedulerSettings.of(all)))
                .node("n", Pool.INFERENCE, 1);
    }

    private void sample(Optional<Integer> xid, Optional<Instant> at) {
        samples++;
        GpuSampleBuilder sample = GpuSample.of(GPU);
        xid.ifPresent(sample::lastXid);
        at.ifPresent(sample::lastXidAt);
        story.tell(new GpuTelemetry(
                new NodeId("n"),
                Scenario.DOMAIN,
                boot,
                samples,
                story.now(),
                List.of(sample.build().withUsers(List.of()))));
    }

    private void xid(int xid) {
        sample(Optional.of(xid), Optional.empty());
    }

    private void noXid() {
        sample(Optional.empty(), Optional.empty());
    }

    private void reset() {
        story.after(ofHours(1)).control(ControlCommand.Kind.RESET, GPU).after(ofSeconds(5));
    }

    private String label() {
        return story.owner("n-g0").label();
    }

    private void errsAgainAfterAReboot() {
        noXid();
        xid(79);
        assertThat(label()).isEqualTo("quarantined");
        boot = "boot-2";
        noXid();
        reset();
        noXid();
        assertThat(label()).isEqualTo("free");

        story.after(ofSeconds(5));
        xid(79);
    }

    @Test
    void theSameFatalErrorAfterARebootIsNews() {
        errsAgainAfterAReboot();

        assertThat(label()).isEqualTo("quarantined");
    }

    @Test
    void anOlderLogGoesOnAsItWas() {
        story = story(false);
        errsAgainAfterAReboot();

        assertThat(label()).isEqualTo("free");
    }

    @Test
    void anOldErrorThatIsStillReportedAfterAResetIsNoNews() {
        Optional<Instant> first = Optional.of(story.now().plusSeconds(1));
        noXid();
        story.after(ofSeconds(2));
        sample(Optional.of(79), first);
        reset();
        sample(Optional.of(79), first);
        assertThat(label()).isEqualTo("free");

        story.after(ofSeconds(5));
        sample(Optional.of(79), Optional.of(story.now()));
        assertThat(label()).isEqualTo("quarantined");
    }

    @Test
    void anErrorOfAProgramThatIsRepeatedIsNotFatal() {
        noXid();
        story.after(ofSeconds(5));
        sample(Optional.of(13), Optional.of(story.now()));
        sample(Optional.of(13), Optional.of(story.now()));

        assertThat(label()).isEqualTo("free");
    }
}
