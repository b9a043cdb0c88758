package io.lendstream.core.actuation;

import io.lendstream.core.id.DomainId;

/** A name in a domain. Other domains may use the same name for something else. */
record InDomain<I>(DomainId domain, I id) {}
