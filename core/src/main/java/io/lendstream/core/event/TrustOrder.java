package io.lendstream.core.event;

import io.lendstream.core.id.ServiceId;
import java.util.Optional;

/**
 * The level of trust that an operator orders.
 *
 * @param service the service whose idle GPUs may be lent, for {@link TrustLevel#ONE_SERVICE}
 * @param anyway whether the level may rise although its time has not come
 */
public record TrustOrder(TrustLevel level, Optional<ServiceId> service, boolean anyway) {}
