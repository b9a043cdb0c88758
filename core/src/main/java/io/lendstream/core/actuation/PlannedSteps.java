package io.lendstream.core.actuation;

import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads the state of a version in which a simulated step happened by itself when it was due. Such a step becomes one
 * that is waited for, with the event that its driver will report then.
 */
final class PlannedSteps {
    private final List<PendingStep> steps = new ArrayList<>();
    private final List<ExpectedEvent> expected = new ArrayList<>();

    private PlannedSteps() {}

    /** The same state in the present form. A state of this version is returned as it is. */
    static ActuationSnapshot awaited(ActuationSnapshot saved) {
        if (saved.expected().isPresent()) {
            return saved;
        }
        var planned = new PlannedSteps();
        saved.steps().stream().map(PendingStep::unmeasured).forEach(planned::read);
        return new ActuationSnapshot(
                saved.clock(),
                saved.nextOrder(),
                saved.latest(),
                saved.holdings(),
                planned.steps,
                saved.places(),
                saved.cuts(),
                Optional.of(planned.expected),
                saved.refusals());
    }

    private void read(PendingStep step) {
        switch (step.kind()) {
            case RELEASE -> {
                steps.add(step);
                expect(step, new DriverEvent.Stopped(tenant(step), step.gpus(), false, ""));
            }
            case FORCE -> steps.add(step.until(step.due(), PendingStep.Kind.RELEASE, ""));
            case BIND -> {
                steps.add(step);
                expect(step, new DriverEvent.Started(tenant(step), step.gpus()));
            }
            case FAIL -> {
                steps.add(step.until(step.due(), PendingStep.Kind.BIND, ""));
                expect(step, new DriverEvent.Failed(tenant(step), step.decision(), step.reason(), step.ofProgram()));
            }
            case APPLY -> {
                Instant patience = step.due().plus(WaitingTimes.PATIENCE);
                steps.add(step.until(patience, step.kind(), step.reason()));
                expect(step, new DriverEvent.InForce(tenant(step), step.decision()));
            }
            case RECUT -> {
                steps.add(step);
                expect(step, new DriverEvent.Cut(step.decision(), step.gpus().get(0), true, ""));
            }
            // A real driver carried out the saved steps. From now on they are simulated.
            case RETURN, NOT_CUT, GIVE_UP -> {}
        }
    }

    private void expect(PendingStep step, DriverEvent event) {
        expected.add(new ExpectedEvent(step.due(), step.order(), event));
    }

    private static Tenant tenant(PendingStep step) {
        return step.tenant().orElseThrow();
    }
}
