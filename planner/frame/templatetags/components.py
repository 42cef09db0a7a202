"""Components as template tags: one template each under templates/components/."""

from django import template

register = template.Library()
