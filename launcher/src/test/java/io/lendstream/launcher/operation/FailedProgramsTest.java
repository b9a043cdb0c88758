package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.Tenant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class FailedProgramsTest {
    private static final Tenant BERT = new Tenant.Job(new JobId("bert"));
    private static final Tenant GPT = new Tenant.Job(new JobId("gpt"));

    private static ActuationReport failed(Tenant tenant) {
        return Scenario.of("deepboot")
                .report(new DecisionId(Scenario.DOMAIN, 1, 1), Outcome.FAILED, List.of(), Optional.of(tenant));
    }

    @Test
    void onlyFailuresOfProgramsCount() {
        FailedPrograms failed = new FailedPrograms();

        failed.take(failed(BERT).ofProgram(true));
        failed.take(failed(GPT));

        assertThat(failed.has(BERT)).isTrue();
        assertThat(failed.has(GPT)).isFalse();
    }
}
