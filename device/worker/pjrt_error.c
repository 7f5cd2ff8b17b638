/*
 * pjrt_error.c - the plugin's errors and events: each is read once, and destroyed.
 */
#include "device/worker/pjrt.h"
#ifdef HAVE_PJRT
#include <stdio.h>
#include "device/worker/pjrt_own.h"

int pjrt_check(struct pjrt *p, PJRT_Error *error, const char *doing, struct refusal *v)
{
	if (!error)
		return 0;
	ARGS(Error_Message, m);
	m.error = error;
	p->api->PJRT_Error_Message(&m);
	ARGS(Error_GetCode, c);
	c.error = error;
	PJRT_Error *nested = p->api->PJRT_Error_GetCode(&c);
	v->outcome = !nested && c.code == PJRT_Error_Code_RESOURCE_EXHAUSTED ? OUTCOME_OOM
									     : OUTCOME_REFUSED;
	snprintf(v->detail, sizeof v->detail, "%s: %.*s", doing,
		(int)(m.message_size < 480 ? m.message_size : 480), m.message);
	ARGS(Error_Destroy, d);
	d.error = error;
	p->api->PJRT_Error_Destroy(&d);
	return -1;
}

int pjrt_await(struct pjrt *p, PJRT_Event *event, const char *doing, struct refusal *v)
{
	if (!event)
		return 0;
	ARGS(Event_Await, w);
	w.event = event;
	int rc = pjrt_check(p, p->api->PJRT_Event_Await(&w), doing, v);
	ARGS(Event_Destroy, d);
	d.event = event;
	struct refusal ignored;
	pjrt_check(p, p->api->PJRT_Event_Destroy(&d), doing, &ignored);
	return rc;
}
#endif
