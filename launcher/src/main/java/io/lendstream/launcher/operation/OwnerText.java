package io.lendstream.launcher.operation;

import io.lendstream.core.state.Owner;

/** Who has a GPU, in words. */
final class OwnerText implements Owner.Cases<String> {
    @Override
    public String free(Owner.Free free) {
        return free.label();
    }

    @Override
    public String binding(Owner.Binding binding) {
        return "binding to %s, to be there by %s".formatted(binding.tenant(), EventText.clock(binding.deadline()));
    }

    @Override
    public String lent(Owner.Lent lent) {
        return "lent to job %s until %s".formatted(lent.job(), EventText.clock(lent.until()));
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
        return "protected for %s until %s".formatted(replica.service(), EventText.clock(replica.until()));
    }

    @Override
    public String sleeping(Owner.Sleeping sleeping) {
        return "sleeping replica of %s".formatted(sleeping.service());
    }

    @Override
    public String releasing(Owner.Releasing releasing) {
        return "releasing from %s, to be free by %s".formatted(releasing.tenant(), EventText.clock(releasing.by()));
    }

    @Override
    public String recutting(Owner.Recutting recutting) {
        return "recutting, by %s".formatted(EventText.clock(recutting.deadline()));
    }

    @Override
    public String quarantined(Owner.Quarantined quarantined) {
        return "quarantined: " + quarantined.reason();
    }
}
