"""People and what they belong to."""

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

from kit.ids import new_id


class Role(models.TextChoices):
    OWNER = "owner"
    ADMIN = "admin"
    EDITOR = "editor"
    OPERATOR = "operator"
    VIEWER = "viewer"


class UserAccounts(BaseUserManager["User"]):
    """Makes users; they are known by their e-mail address, whatever its capitals."""

    def create_user(self, email: str, password: str | None = None, **fields: object) -> "User":
        user = self.model(email=email.strip().lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: object) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email=(username or "").strip().lower())


class User(AbstractBaseUser, PermissionsMixin):
    """A person who signs in. Known by e-mail; there is no user name."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=150, blank=True)
    is_staff = models.BooleanField(default=False)  # may open Django's admin pages
    is_active = models.BooleanField(default=True)
    date_joined = models.DateTimeField(default=timezone.now)

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS = []
    objects = UserAccounts()

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="one_user_for_an_email")]

    def __str__(self) -> str:
        return self.name or self.email


class Workspace(models.Model):
    """A team's space; everything else belongs to one."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=150)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """That a person belongs to a workspace, and as what."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=Role.choices)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "user"], name="one_membership_each")]

    def __str__(self) -> str:
        return f"{self.user_id} is {self.role} of {self.workspace_id}"


class AuditRecord(models.Model):
    """Who did what, to what, when. Append-only: a trigger in the database refuses every change.

    The workspace and the actor are kept by value, so that the trail outlives what it tells of.
    """

    at = models.DateTimeField(auto_now_add=True)
    workspace_id = models.UUIDField(null=True)
    actor_kind = models.CharField(max_length=16)
    actor_id = models.UUIDField(null=True)
    actor_name = models.CharField(max_length=254)
    action = models.CharField(max_length=64)  # 'workflow.publish'
    target_kind = models.CharField(max_length=32)
    target_id = models.CharField(max_length=64)
    data = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["workspace_id", "-id"], name="audit_of_a_workspace")]

    def __str__(self) -> str:
        return f"{self.action} by {self.actor_name}"
