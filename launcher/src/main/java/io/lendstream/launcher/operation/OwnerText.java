package io.lendstream.launcher.operation;

import io.lendstream.core.state.ForeignUse;
import io.lendstream.core.state.Owner;
import io.lendstream.service.text.Times;

/** The owner of a GPU as text. */
final class OwnerText implements Owner.Cases<String> {
    @Override
    public String free(Owner.Free free) {
        return free.label();
    }

    @Override
    public String binding(Owner.Binding binding) {
        return "binding to %s until %s".formatted(binding.tenant(), Times.at(binding.deadline()));
    }

    @Override
    public String lent(Owner.Lent lent) {
        return "lent to job %s until %s".formatted(lent.job(), Times.at(lent.until()));
    }

    @Override
    public String training(Owner.Training training) {
        return "training job %s".formatted(training.job());
    }

    @Override
    public String serving(Owner.Serving serving) {
        return "serving %s".formatted(serving.service());
    }

    @Override
    public String protectedReplica(Owner.Protected replica) {
        return "protected for %s until %s".formatted(replica.service(), Times.at(replica.until()));
    }

    @Override
    public String sleeping(Owner.Sleeping sleeping) {
        return "sleeping replica of %s".formatted(sleeping.service());
    }

    @Override
    public String releasing(Owner.Releasing releasing) {
        return "releasing from %s, free by %s".formatted(releasing.tenant(), Times.at(releasing.by()));
    }

    @Override
    public String recutting(Owner.Recutting recutting) {
        return "recutting, done by %s".formatted(Times.at(recutting.deadline()));
    }

    @Override
    public String quarantined(Owner.Quarantined quarantined) {
        return quarantined
                .foreign()
                .map(ForeignUse::outlook)
                .map(use -> "foreign: " + use)
                .orElseGet(() -> "quarantined: "
                        + quarantined.reason()
                        + quarantined
                                .vacancy()
                                .map(evidence -> "; " + evidence.outlook())
                                .orElse(""));
    }
}
