package io.lendstream.core.state;

import io.lendstream.core.id.Tenant;
import java.time.Instant;
import java.util.Optional;

/** What {@link Owner} reads from the states that have it; made once, as it is asked in every step. */
final class OwnerParts {
    static final Owner.Cases<Optional<Tenant>> HOLDER = new Holder();
    static final Owner.Cases<Optional<Instant>> DUE_AT = new DueAt();

    private OwnerParts() {}

    private static final class Holder implements Owner.Cases<Optional<Tenant>> {
        @Override
        public Optional<Tenant> free(Owner.Free free) {
            return Optional.empty();
        }

        @Override
        public Optional<Tenant> binding(Owner.Binding binding) {
            return Optional.of(binding.tenant());
        }

        @Override
        public Optional<Tenant> lent(Owner.Lent lent) {
            return Optional.of(new Tenant.Job(lent.job()));
        }

        @Override
        public Optional<Tenant> training(Owner.Training training) {
            return Optional.of(new Tenant.Job(training.job()));
        }

        @Override
        public Optional<Tenant> serving(Owner.Serving serving) {
            return Optional.of(new Tenant.Service(serving.service()));
        }

        @Override
        public Optional<Tenant> protectedReplica(Owner.Protected replica) {
            return Optional.of(new Tenant.Service(replica.service()));
        }

        @Override
        public Optional<Tenant> sleeping(Owner.Sleeping sleeping) {
            return Optional.of(new Tenant.Service(sleeping.service()));
        }

        @Override
        public Optional<Tenant> releasing(Owner.Releasing releasing) {
            return Optional.of(releasing.tenant());
        }

        @Override
        public Optional<Tenant> recutting(Owner.Recutting recutting) {
            return Optional.empty();
        }

        @Override
        public Optional<Tenant> quarantined(Owner.Quarantined quarantined) {
            return Optional.empty();
        }
    }

    private static final class DueAt implements Owner.Cases<Optional<Instant>> {
        @Override
        public Optional<Instant> free(Owner.Free free) {
            return Optional.empty();
        }

        @Override
        public Optional<Instant> binding(Owner.Binding binding) {
            return Optional.of(binding.deadline());
        }

        @Override
        public Optional<Instant> lent(Owner.Lent lent) {
            return Optional.empty();
        }

        @Override
        public Optional<Instant> training(Owner.Training training) {
            return Optional.empty();
        }

        @Override
        public Optional<Instant> serving(Owner.Serving serving) {
            return Optional.empty();
        }

        @Override
        public Optional<Instant> protectedReplica(Owner.Protected replica) {
            return Optional.of(replica.until());
        }

        @Override
        public Optional<Instant> sleeping(Owner.Sleeping sleeping) {
            return Optional.empty();
        }

        @Override
        public Optional<Instant> releasing(Owner.Releasing releasing) {
            return Optional.of(releasing.alarmAt());
        }

        @Override
        public Optional<Instant> recutting(Owner.Recutting recutting) {
            return Optional.of(recutting.deadline());
        }

        @Override
        public Optional<Instant> quarantined(Owner.Quarantined quarantined) {
            return quarantined
                    .foreign()
                    .flatMap(ForeignUse::freeAt)
                    .or(() -> quarantined.vacancy().flatMap(Vacancy::freeAt));
        }
    }
}
