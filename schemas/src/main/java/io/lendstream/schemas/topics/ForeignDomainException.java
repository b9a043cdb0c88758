package io.lendstream.schemas.topics;

import io.lendstream.core.id.DomainId;
import io.lendstream.schemas.serde.PoisonRecordException;

/** Refuses a record in an intake's topic about a domain that the intake may not write about. */
public final class ForeignDomainException extends PoisonRecordException {
    private static final long serialVersionUID = 1L;

    ForeignDomainException(String topic, DomainIntake intake, DomainId domain) {
        super(
                "a record of %s is about domain %s, but intake %s may write only about %s; write it to an intake of that domain, or add the domain to intake %s in the setting intakes"
                        .formatted(topic, domain, intake.name(), intake.domainList(), intake.name()),
                null);
    }

    ForeignDomainException(String topic, String intake) {
        super(
                "a record of %s is from intake %s, which the setting intakes does not list; add %s=DOMAIN there, in all services alike"
                        .formatted(topic, intake, intake),
                null);
    }
}
