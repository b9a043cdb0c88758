/** Records of our topics in and out of Kafka: read and written as what they stand for, with poison put aside and a silent registry waited for. Clients take every property that Kafka knows, under {@code kafka.}. */
@NullMarked
package io.lendstream.service.kafka;

import org.jspecify.annotations.NullMarked;
