package io.lendstream.core.actuation;

import io.lendstream.core.id.GpuId;
import java.util.Collection;

/** Builds the reasons in reports. */
final class ReasonText {
    private ReasonText() {}

    /** Both parts with a semicolon between them, or the only one that is not empty. */
    static String join(String reason, String more) {
        return reason.isEmpty() || more.isEmpty() ? reason + more : reason + "; " + more;
    }

    static String names(Collection<GpuId> gpus) {
        return String.join(", ", gpus.stream().map(GpuId::value).toList());
    }
}
