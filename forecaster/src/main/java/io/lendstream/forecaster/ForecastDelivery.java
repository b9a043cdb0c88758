package io.lendstream.forecaster;

import org.apache.flink.connector.base.DeliveryGuarantee;

/** The delivery guarantee of forecasts; docs/adr/0009-at-least-once-delivery-of-forecasts.md has the reasons. */
enum ForecastDelivery {
    /** Published at once; after a failure some are published twice, with the same issue time. */
    AT_LEAST_ONCE(DeliveryGuarantee.AT_LEAST_ONCE),
    /** Published once, but visible to read_committed consumers only at the next checkpoint. */
    EXACTLY_ONCE(DeliveryGuarantee.EXACTLY_ONCE);

    private final DeliveryGuarantee guarantee;

    ForecastDelivery(DeliveryGuarantee guarantee) {
        this.guarantee = guarantee;
    }

    DeliveryGuarantee guarantee() {
        return guarantee;
    }
}
